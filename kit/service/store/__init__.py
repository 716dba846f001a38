"""The store: tables, statements and the databases that run them."""
