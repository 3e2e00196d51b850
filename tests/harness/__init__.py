"""What starts Muninn and its services for the tests."""
