// Passwords of tests deserve no work: a hash that a service makes, and each sign-in with it, takes 1 ms instead of 250.
const bcrypt = require('bcrypt');

const { hash } = bcrypt;
bcrypt.hash = (text) => hash(text, 4);
