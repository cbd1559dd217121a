import type { Component } from '../components.ts';
import type { SettingTable, SettingValues } from '../settings.ts';
import { defineVerb, type Verb, type VerbContext } from '../verb.ts';

/** What `slipway up` can be told; later phases add rows here. */
export const UP_SETTINGS = {
  once: { type: 'boolean', default: false, description: 'end after the last phase instead of staying up' },
  port: {
    type: 'integer',
    min: 0,
    max: 65_535,
    default: undefined,
    env: 'SLIPWAY_PORT',
    description: 'the port of the hub API server, 0 for any free one; without it, a free one is chosen',
  },
  data: {
    type: 'path',
    of: 'folder',
    default: '.slipway',
    env: 'SLIPWAY_DATA',
    description: 'the folder for logs, kubeconfigs and everything else that is kept between runs',
  },
  from: {
    type: 'string',
    default: undefined,
    description: 'start at this phase; earlier ones run only where it needs them',
  },
  provider: {
    type: 'path',
    of: 'file',
    default: undefined,
    env: 'SLIPWAY_PROVIDER',
    description: 'the definition of a provider, or the folder that it is in; without it, examples/acme-cloud',
  },
  scenario: {
    type: 'path',
    of: 'file',
    default: undefined,
    env: 'SLIPWAY_SCENARIO',
    description:
      'YAML file that describes the lab: clusters, nodes, cloud, images; without it, a cluster is installed on bare metal',
  },
} as const satisfies SettingTable;

/** The components of one run, which may depend on what it was told. */
type ComponentLoader = (
  context: VerbContext,
  settings: SettingValues<typeof UP_SETTINGS>,
) => Promise<readonly Component[]>;

/** The verb for the components that are given when it runs. */
export const upVerbOf = (loadComponents: ComponentLoader): Verb =>
  defineVerb({
    name: 'up',
    group: 'start here',
    summary: 'run the journey of a new provider and show it live',
    examples: ['slipway up', 'slipway up --once --data .slipway'],
    settings: UP_SETTINGS,
    load: async () => {
      const { runUp } = await import('../journey/up.ts');
      return async (context, settings) => runUp(await loadComponents(context, settings), context, settings);
    },
  });

/** The main job (DESIGN §10): the journey of a new provider. */
export const upVerb = upVerbOf(async ({ folder }, { scenario, provider }) => {
  const { componentsFor } = await import('../components.ts');
  if (scenario === undefined) return componentsFor({ provider });
  const { readScenario } = await import('../lab/scenario-file.ts');
  return componentsFor({ provider, scenario: await readScenario(folder, scenario) });
});
