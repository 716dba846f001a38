"""The business logic as transactions, without HTTP, SQL or a clock of its own."""
