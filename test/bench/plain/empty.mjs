// What an import costs when there is nothing in it.
