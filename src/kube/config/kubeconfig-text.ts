import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import type { Environment } from './surroundings.ts';

/** What the text is called where a kubeconfig has a path. */
const IN_A_SECRET = '/kubeconfig';

/**
 * The access that a kubeconfig from an object of a cluster stands for. Whoever may write that object must not get at the
 * files of this machine, nor start programs on it: a kubeconfig that names any is refused with a userError, and so is a
 * text that is none. Nothing is sent.
 */
export function accessFromText(
  kubeconfig: string,
  { env, clock }: { readonly env: Environment; readonly clock: Clock },
): Promise<ClusterAccess> {
  return loadKubeconfig({
    env,
    homeDir: '/',
    clock,
    kubeconfigFlag: IN_A_SECRET,
    readFile: (path) => (path === IN_A_SECRET ? Promise.resolve(kubeconfig) : Promise.reject(outside(path))),
    isProgram: () => Promise.resolve(false),
    run: ({ command }) => Promise.reject(outside(command)),
    isTerminal: false,
    stderr: () => {},
  });
}

const outside = (what: string) =>
  userError(
    'KubeconfigNamesFiles',
    `the kubeconfig of a cluster must hold its credentials itself; it names ${what}, which is not used`,
  );
