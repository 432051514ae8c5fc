"""The server: models that stay compiled, asked over HTTP, and the page on which a person asks them."""
