import { usageError } from '../failures.ts';
import { suggestion } from '../nearest.ts';
import { type SettingTable, shown } from '../settings.ts';
import { defineVerb } from '../verb.ts';

const settings = {
  output: {
    type: 'string',
    allowed: ['text', 'json', 'yaml', 'mermaid'],
    default: 'text',
    env: 'SLIPWAY_OUTPUT',
    description:
      'text for people, json and yaml (everything, nothing folded) for programs, mermaid for a flowchart',
  },
  kubeconfig: {
    type: 'path',
    of: 'file',
    default: undefined,
    description: 'of the management cluster; the variable KUBECONFIG and ~/.kube/config are looked at without it',
  },
  context: {
    type: 'string',
    default: undefined,
    description: 'the context of the kubeconfig, if not the current one',
  },
  namespace: {
    type: 'string',
    default: undefined,
    description: 'where the Cluster is; without it all namespaces are looked through',
  },
  n: { type: 'string', default: undefined, description: 'the same as --namespace' },
  nodes: {
    type: 'boolean',
    default: true,
    description: 'ask the cluster itself for its Nodes, with the kubeconfig that its control plane publishes',
  },
  expand: {
    type: 'boolean',
    default: false,
    description: 'every Machine with all that it is made of, nothing folded',
  },
  all: {
    type: 'boolean',
    default: false,
    description: 'ClusterDeployment, ClusterImageSet, MachineSets and bootstrap Secrets, too',
  },
  'show-conditions': {
    type: 'list',
    default: [],
    description:
      'conditions of KIND, of KIND/NAME or of all; a + behind it leaves out those that are as they should be',
  },
  watch: { type: 'boolean', default: false, description: 'stay, and show every change until Ctrl-C' },
} as const satisfies SettingTable;

const SUBJECTS = ['cluster'];

/** Shows what is, and why nothing moves. */
export const describeVerb = defineVerb({
  name: 'describe',
  group: 'when something is wrong',
  summary: 'show a cluster of Cluster API as a tree, and why nothing moves',
  examples: ['slipway describe cluster lab', 'slipway describe cluster lab -n metal --show-conditions Machine+'],
  positionals: [
    { name: 'WHAT', description: 'cluster', isRequired: true },
    { name: 'NAME', description: 'the name of the Cluster', isRequired: true },
  ],
  settings,
  load: async () => {
    const { describeCluster } = await import('../describe/describe-cluster.ts');
    return (context, values, [what = '', name = '']) => {
      if (SUBJECTS.includes(what)) return describeCluster(context, values, name);
      const others = `; it describes: ${SUBJECTS.join(', ')}`;
      throw usageError(`slipway describe does not know "${shown(what)}"${suggestion(what, SUBJECTS) || others}`);
    };
  },
});
