// Preloaded into a service (`NODE_OPTIONS=--import=…`): says on standard output how often a password is compared with a hash.
import bcrypt from 'bcrypt';

const { compare } = bcrypt;
bcrypt.compare = (...args) => {
  process.stdout.write('[compared]\n');
  return compare(...args);
};
