// Uses cheap password hashes in tests: hashing and each sign-in take 1 ms instead of 250.
const bcrypt = require('bcrypt');

const { hash } = bcrypt;
bcrypt.hash = (text) => hash(text, 4);
