"""What proves a dialect: a strict client, and the suite of tests that a dialect's author runs."""
