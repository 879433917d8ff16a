/** Parses a Dockerfile into stages and replaces its variables. */
import {
  DockerfileParser,
  type Instruction,
  JSONInstruction,
  ModifiableInstruction,
  PropertyInstruction,
} from 'dockerfile-ast';

export interface Step {
  readonly keyword: string;
  readonly flags: Readonly<Record<string, string>>;
  /** The arguments after the flags; for the JSON form, its strings. */
  readonly args: readonly string[];
  /** The text after the keyword. */
  readonly text: string;
}

export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly steps: readonly Step[];
  /** The environment of the running container: `ENV`, on top of the base environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** Reads the stages of a Dockerfile. `baseEnv` is the environment of the base images. */
export function readDockerfile(content: string, baseEnv: Readonly<Record<string, string>>): readonly Stage[] {
  const global: Record<string, string> = {};
  const stages: ReadStage[] = [];
  for (const instruction of DockerfileParser.parse(content).getInstructions()) {
    const stage = stages.at(-1);
    const keyword = instruction.getKeyword();
    if (keyword === 'FROM') {
      const [base = '', , name] = instruction.getArguments().map((one) => one.getValue());
      const [env, variables] = [{ ...baseEnv }, { ...baseEnv }];
      stages.push({ base: expand(base, global), name, steps: [], env, labels: {}, variables });
    } else if (instruction instanceof PropertyInstruction) {
      for (const property of instruction.getProperties()) {
        const value = expand(property.getValue() ?? '', stage?.variables ?? global);
        const targets = {
          ARG: [stage?.variables ?? global],
          ENV: [stage?.variables, stage?.env],
          LABEL: [stage?.labels],
        }[keyword];
        for (const target of targets ?? []) if (target) target[property.getName()] = value;
      }
    } else if (stage !== undefined) stage.steps.push(stepOf(instruction, stage.variables));
  }
  return stages;
}

/** A stage while it is parsed. */
interface ReadStage extends Stage {
  readonly steps: Step[];
  readonly env: Record<string, string>;
  readonly labels: Record<string, string>;
  /** The values of `$NAME`: `ENV` and `ARG`. */
  readonly variables: Record<string, string>;
}

function stepOf(instruction: Instruction, variables: Readonly<Record<string, string>>): Step {
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
  const json = instruction instanceof JSONInstruction ? instruction.getJSONStrings() : [];
  const args = instruction.getArguments().map((one) => one.getValue());
  return {
    keyword: instruction.getKeyword(),
    flags: Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue() ?? ''])),
    args: json.length > 0 ? json.map((one) => one.getJSONValue()) : args.map((arg) => expand(arg, variables)),
    text: instruction.getArgumentsContent() ?? '',
  };
}

function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_all, braced: string, bare: string) => {
    const value = variables[braced ?? bare];
    if (value === undefined) throw new Error(`${braced ?? bare} is not set`);
    return value;
  });
}
