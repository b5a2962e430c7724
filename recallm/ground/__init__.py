"""What all rooms stand on: checks of arguments, shown text, forks, files."""
