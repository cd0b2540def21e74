export { differences } from '../hostingde/differences.js';
