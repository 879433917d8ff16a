import type { Answer, CommandKind, CommandRequest } from '../kernel/command.ts';
import type { Ports, Prepare } from '../kernel/prepare.ts';
import type { Engine } from './engine.ts';
import { refusedCommand } from './submission.ts';

export interface CommandWithPrepare<Requested, Input, Result> {
  readonly command: CommandKind<Input, Result>;
  readonly prepare: Prepare<Requested, Input, Result>;
}

/** Runs the prepare step of a command, which then submits the command or its refusal. */
export function submitPrepared<Requested, Input, Result>(
  engine: Pick<Engine, 'submit'>,
  ports: Ports,
  { command, prepare }: CommandWithPrepare<Requested, Input, Result>,
  requested: Requested,
  request: CommandRequest,
): PromiseLike<Answer> {
  return prepare(
    {
      requested,
      request,
      submit: (input) => engine.submit({ ...request, kind: command, input }),
      submitRefusal: (refusal) => {
        const kind = refusedCommand(command.name, refusal);
        return engine.submit({ ...request, kind, input: undefined, idempotency: null });
      },
    },
    ports,
  );
}
