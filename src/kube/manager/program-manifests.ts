import { userError } from '../../base/errors.ts';
import { printManifests } from '../rbac/manifests.ts';
import { createManager } from './create-manager.ts';
import { type Flag, flagHelp, parseFlags } from './flag-parser.ts';
import type { Program } from './run-program.ts';

/** First word on the command line of a program that prints what installs it, instead of running (B2). */
export const MANIFESTS = 'manifests';
/** How it is called, for the help of the program. */
export const MANIFESTS_USAGE = `${MANIFESTS} --image <text>   prints what installs it; see ${MANIFESTS} --help`;

const manifestFlags: readonly Flag[] = [
  { name: 'image', type: 'text', default: '', description: 'Image that holds the program; must be said.' },
  {
    name: 'namespace',
    type: 'text',
    default: '',
    description: 'Where it is to run; else a namespace with the name of the program.',
  },
];

const OFFLINE = () => Promise.reject(new Error('a program that prints its manifests talks to no server'));

/** Throws a userError for wrong flags, and for a need that no role may hold (B4). */
export async function programManifests(program: Program): Promise<string> {
  const { name, argv, env, setup, kinds = [] } = program;
  const { values, problems, isHelp } = parseFlags(manifestFlags, argv.slice(1), env);
  if (isHelp) return flagHelp(`${name} ${MANIFESTS}`, manifestFlags);
  const image = String(values.get('image') ?? '');
  const missing = image === '' ? ['--image is missing: say where the image of the program is'] : [];
  const all = [...problems, ...missing];
  if (all.length > 0) throw userError('InvalidFlags', `${all.join('\n')}\n${MANIFESTS} --help lists all flags`);
  const namespace = String(values.get('namespace') ?? '') || name;
  await using manager = createManager({
    kube: OFFLINE,
    name,
    leaderElection: { id: name, namespace },
    // Never read: a program with webhooks wants to know where its certificate is before it serves.
    webhook: { certDir: '/certificates' },
  });
  await setup(manager);
  return printManifests({
    name,
    namespace,
    needs: manager.needs,
    deployment: { image },
    definitions: kinds.map((kind) => kind.toCRD()),
    more: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }],
  });
}
