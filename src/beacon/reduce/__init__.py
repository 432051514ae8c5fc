"""What a query leaves of a model: values that the evidence implies, and independent parts."""
