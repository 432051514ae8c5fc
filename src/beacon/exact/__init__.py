"""What can be known exactly, and what that would cost: elimination orders and widths."""
