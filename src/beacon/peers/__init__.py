"""Other solvers behind one small protocol, each run in a child process and re-scored here."""
