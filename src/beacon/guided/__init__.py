"""Search with a guide: what a guide is, and how its scores take part in the choice of moves."""
