// Writes the types of the API, which are not committed. Run in packages/client/.
//   node scripts/generate.mjs [file]
import { writeApiTypes } from '../../../scripts/api-types.mjs';

await writeApiTypes(process.argv[2] ?? 'src/schema.d.ts');
