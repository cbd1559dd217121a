import { cloudOperator } from '../../cloud-operator/index.ts';
import type { ExitCode, VerbContext } from '../verb.ts';

/** Runs once, before a cloud controller manager of Azure. */
export const runAzureInjector = ({ output }: VerbContext, argv: readonly string[]): Promise<ExitCode> =>
  cloudOperator.runAzureInject({
    argv,
    stdout: (text) => output.result(text.trimEnd(), { text }),
    stderr: (text) => output.hint(text.trimEnd()),
    usage: 'slipway run azure-config-credentials-injector',
  });
