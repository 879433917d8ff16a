import { Type } from 'typebox';

/** What a reset or the deletion of an organization removed. */
export const DeletedRows = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
  description: 'The number of deleted rows of each kind.',
});
