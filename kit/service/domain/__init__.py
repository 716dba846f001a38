"""What the service does, as transactions: no HTTP, no SQL, no clock of its own."""
