"""Tree moves: exact moves on blocks of bounded width in perturbed regions."""
