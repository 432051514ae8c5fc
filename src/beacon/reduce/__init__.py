"""What a query leaves of a model: values that the evidence implies, tables given them, independent parts."""
