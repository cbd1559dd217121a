import { expanded } from '../environment/expansion.ts';
import { ContainerProblem } from '../runtime/container-runtime.ts';

/** Replaces `$(NAME)` in a `subPathExpr`; unlike in arguments, a name without a value keeps the container from starting. */
export const subPathExpansion =
  (environment: Readonly<Record<string, string>>) =>
  (text: string): string =>
    expanded(text, (name) => {
      const value = environment[name];
      if (value !== undefined) return value;
      const message = `failed to expand subPathExpr "${text}": missing value for "${name}"`;
      throw new ContainerProblem('CreateContainerConfigError', message);
    });
