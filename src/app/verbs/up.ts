import type { Component } from '../components.ts';
import type { SettingTable } from '../settings.ts';
import { defineVerb, type Verb } from '../verb.ts';

/** What `slipway up` can be told; later phases add rows here. */
export const UP_SETTINGS = {
  once: { type: 'boolean', default: false, description: 'end after the last phase instead of staying up' },
  port: {
    type: 'integer',
    min: 0,
    max: 65_535,
    default: undefined,
    env: 'SLIPWAY_PORT',
    description: 'the port to serve on, 0 for any free one; without it, a free one is chosen',
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
} as const satisfies SettingTable;

/** The verb for the components that are given when it runs. */
export const upVerbOf = (loadComponents: () => Promise<readonly Component[]>): Verb =>
  defineVerb({
    name: 'up',
    group: 'start here',
    summary: 'run the journey of a new provider and show it live',
    examples: ['slipway up', 'slipway up --once --data .slipway'],
    settings: UP_SETTINGS,
    load: async () => {
      const [{ runUp }, components] = await Promise.all([import('../journey/up.ts'), loadComponents()]);
      return (context, settings) => runUp(components, context, settings);
    },
  });

/** The main job (DESIGN §10): the journey of a new provider. */
export const upVerb = upVerbOf(async () => (await import('../components.ts')).COMPONENTS);
