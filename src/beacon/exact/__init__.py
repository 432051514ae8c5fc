"""What can be known exactly: optima by elimination, what they would cost, and upper bounds."""
