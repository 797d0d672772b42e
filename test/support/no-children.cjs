// Preloaded by a test: a process that must start no other.
const children = require('node:child_process');
children.spawn = () => {
  throw new Error('a child process was started');
};
