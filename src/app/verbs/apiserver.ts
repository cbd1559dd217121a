import type { SettingTable } from '../settings.ts';
import { defineVerb } from '../verb.ts';

export const APISERVER_SETTINGS = {
  data: {
    type: 'path',
    of: 'folder',
    default: undefined,
    env: 'SLIPWAY_DATA',
    description: 'the folder objects and keys are kept in; without it, everything ends with the process',
  },
  port: {
    type: 'integer',
    min: 0,
    max: 65_535,
    default: 6443,
    env: 'SLIPWAY_PORT',
    description: 'the port to serve on, 0 for any free one',
  },
  'kubeconfig-out': {
    type: 'path',
    of: 'file',
    default: 'kubeconfig',
    description: 'where the kubeconfig of the administrator is written',
  },
  durability: {
    type: 'string',
    allowed: ['full', 'normal'],
    default: 'full',
    description: 'full: an answered write survives a power cut; normal: it survives the end of the process',
  },
  'to-revision': {
    type: 'integer',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    default: undefined,
    description: 'with repair: the last revision to keep, 0 for none',
  },
} as const satisfies SettingTable;

/** The embedded Kubernetes API server by itself. */
export const apiserverVerb = defineVerb({
  name: 'apiserver',
  group: 'start here',
  summary: 'run the embedded Kubernetes API server by itself',
  examples: ['slipway apiserver', 'slipway apiserver --data .slipway/api --port 6443 --kubeconfig-out kubeconfig'],
  positionals: [
    { name: 'repair', description: 'cut a damaged store after --to-revision, keeping a copy', isRequired: false },
  ],
  settings: APISERVER_SETTINGS,
  load: async () => {
    const { runApiServer } = await import('../apiserver/run.ts');
    return runApiServer;
  },
});
