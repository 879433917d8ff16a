import { citusSql } from './ddl.ts';
import { readSchema } from './schema.ts';

process.stdout.write(citusSql(readSchema()));
