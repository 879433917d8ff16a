import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { idFrom } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { allowedActions, requestableActions } from '../../kernel/machine.ts';
import { type Route, retrieveHandler, searchHandler } from '../../kernel/route.ts';
import {
  Email,
  id,
  list,
  listQuery,
  Metadata,
  nullable,
  ReferenceQuery,
  resource,
  searchQuery,
  strict,
  Time,
  text,
} from '../../kernel/schema.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import {
  archiveCustomer,
  type CustomerFields,
  createCustomer,
  customerMachine,
  updateCustomer,
} from './machine.ts';
import { type CustomerRow, customersTable, customerTexts } from './table.ts';

const Name = text(limits.nameLengthMax);
const Phone = Type.String({
  minLength: 3,
  maxLength: limits.phoneLengthMax,
  pattern: '^[+0-9][0-9 ()./-]*$',
  description: 'Phone number: digits, spaces and ( ) . / -, with + or a digit first.',
});
const Reference = text(limits.referenceLengthMax);

const CreateBody = strict(
  {
    name: Type.Optional(Name),
    email: Type.Optional(Email),
    phone: Type.Optional(Phone),
    reference: Type.Optional(Reference),
    metadata: Type.Optional(Metadata),
  },
  { anyOf: [{ required: ['name'] }, { required: ['email'] }] },
);

const UpdateBody = strict(
  {
    name: Type.Optional(nullable(Name)),
    email: Type.Optional(nullable(Email)),
    phone: Type.Optional(nullable(Phone)),
    reference: Type.Optional(nullable(Reference)),
    metadata: Type.Optional(Metadata),
  },
  { minProperties: 1 },
);

const CustomerSchema = resource('customer', customerMachine.states, {
  id: id('customer'),
  name: nullable(Type.String()),
  email: nullable(Type.String()),
  phone: nullable(Type.String()),
  reference: nullable(Type.String()),
  metadata: Metadata,
  allowedActions: Type.Array(Type.Enum([...requestableActions(customerMachine)])),
  version: Type.Integer({ minimum: 1 }),
  createdAt: Time,
  updatedAt: Time,
});

function presentCustomer(row: CustomerRow): Presented {
  return {
    object: 'customer',
    sandbox: true,
    status: row.status,
    id: row.id,
    name: row.name,
    email: row.email,
    phone: row.phone,
    reference: row.reference,
    metadata: row.metadata,
    allowedActions: allowedActions(customerMachine, row),
    version: row.version,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  };
}

export const customerResource: Resource<CustomerRow> = {
  name: 'customer',
  table: customersTable,
  machine: customerMachine,
  present: presentCustomer,
  emitsEvents: true,
  schema: CustomerSchema,
};

function createInput(body: Static<typeof CreateBody>): CustomerFields {
  return {
    name: body.name ?? null,
    email: body.email ?? null,
    phone: body.phone ?? null,
    reference: body.reference ?? null,
    metadata: body.metadata ?? {},
  };
}

const meta = { tag: 'Customers', response: CustomerSchema, responseName: 'Customer' } as const;

export const customerRoutes: readonly Route[] = [
  writeRoute({
    ...meta,
    operationId: 'createCustomer',
    method: 'POST',
    path: 'developer_api_customers',
    scope: 'customers:write',
    summary: 'Create a customer',
    body: CreateBody,
    bodyName: 'CustomerCreate',
    target: null,
    command: createCustomer,
    input: ({ body }) => createInput(body),
  }),
  {
    ...meta,
    operationId: 'listCustomers',
    method: 'GET',
    path: 'developer_api_customers',
    scope: 'customers:read',
    summary: 'List customers, newest first',
    query: listQuery(customerMachine.states, {
      reference: ReferenceQuery,
      ...searchQuery(customerTexts),
    }),
    response: list(CustomerSchema),
    responseName: 'CustomerList',
    read: searchHandler(customerResource, customerTexts, ['status', 'reference']),
  },
  {
    ...meta,
    operationId: 'retrieveCustomer',
    method: 'GET',
    path: 'developer_api_customers/{id}',
    scope: 'customers:read',
    summary: 'Retrieve a customer',
    read: retrieveHandler('customer', customersTable, presentCustomer),
  },
  writeRoute({
    ...meta,
    operationId: 'updateCustomer',
    method: 'POST',
    path: 'developer_api_customers/{id}/update',
    scope: 'customers:write',
    summary: 'Update customer fields; null clears a field',
    body: UpdateBody,
    bodyName: 'CustomerUpdate',
    target: 'customer',
    command: updateCustomer,
    input: ({ params, body }) => ({ id: idFrom('customer', params.id), fields: body }),
  }),
  writeRoute({
    ...meta,
    operationId: 'archiveCustomer',
    method: 'POST',
    path: 'developer_api_customers/{id}/archive',
    scope: 'customers:write',
    summary: 'Archive a customer: it stays readable, and new payments and transfers cannot name it',
    target: 'customer',
    command: archiveCustomer,
    input: ({ params }) => ({ id: idFrom('customer', params.id) }),
  }),
];
