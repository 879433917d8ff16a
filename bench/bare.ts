/**
 * The bare Fastify route that server routes are compared with: the cost of HTTP and JSON alone on this machine. Runs as a
 * separate process: `node --import tsx bench/bare.ts FILE`, where FILE contains the response body.
 */
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { Type } from 'typebox';
import { PAYMENTS_PATH } from './requests.ts';

const file = process.argv[2];
if (file === undefined) throw new Error('Usage: bare.ts FILE');
const answer = readFileSync(file, 'utf8');
const contentType = 'application/json; charset=utf-8';

const Body = Type.Object(
  {
    amount: Type.Integer({ minimum: 1 }),
    currency: Type.String({ minLength: 3, maxLength: 3 }),
    description: Type.Optional(Type.String({ maxLength: 1000 })),
    reference: Type.Optional(Type.String({ maxLength: 255 })),
    metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
);

const app = Fastify();
app.post(PAYMENTS_PATH, { schema: { body: Body } }, async (_request, reply) =>
  reply.code(201).type(contentType).send(answer),
);
app.get(`${PAYMENTS_PATH}/:id`, async (_request, reply) => reply.type(contentType).send(answer));

// stdin is connected to the bench: exit when it closes.
process.stdin.resume().on('close', () => process.exit(0));
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
