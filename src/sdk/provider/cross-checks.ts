import type { CapabilityName } from '../capabilities/capabilities.ts';
import type { DefinitionProblem } from './definition-error.ts';
import { isPlain } from './plain-copy.ts';
import type { ControllerAlias } from './provider-definition.ts';

/** Which capability a controller works with. */
export const CONTROLLER_CAPABILITY: Readonly<Record<ControllerAlias, CapabilityName>> = {
  'cloud-node': 'instances',
  'cloud-node-lifecycle': 'instances',
  service: 'loadBalancers',
  route: 'routes',
};

type Fields = Readonly<Record<string, unknown>>;

/** What is right by itself and wrong together (onboarding R84). */
export function crossProblems(fields: Fields, capabilities: readonly string[]): readonly DefinitionProblem[] {
  return [
    ...externalProblems(fields['ccm'], capabilities),
    ...controllerProblems(fields['ccm'], capabilities),
    ...(capabilities.includes('snapshots') && !capabilities.includes('volumes') ? [SNAPSHOTS_ALONE] : []),
  ];
}

const SNAPSHOTS_ALONE: DefinitionProblem = {
  path: 'capabilities.snapshots',
  code: 'SW2120',
  message: 'capabilities.snapshots needs the capability volumes, which is missing',
  hint: 'add volumes, or leave snapshots out',
  why: 'there is nothing to take a snapshot of, and nothing to restore it to',
};

/** Without either, nobody can tell which machine a Node is: it would wait for ever. */
function externalProblems(ccm: unknown, capabilities: readonly string[]): readonly DefinitionProblem[] {
  const isExternal = !isPlain(ccm) || ccm['external'] !== false;
  if (!isExternal || capabilities.includes('instances') || capabilities.includes('metadata')) return [];
  const isSaid = isPlain(ccm);
  return [
    {
      path: isSaid ? 'ccm.external' : 'capabilities',
      code: 'SW2121',
      message: `${isSaid ? 'ccm.external' : 'ccm.external (true unless told otherwise)'} needs the capability instances, or metadata with paths.instanceId; neither is there`,
      hint: 'add instances, or write ccm: { external: false }',
      why: 'nodes wait for a provider ID, and nobody could give them one',
    },
  ];
}

function controllerProblems(ccm: unknown, capabilities: readonly string[]): readonly DefinitionProblem[] {
  const controllers: unknown = isPlain(ccm) ? ccm['controllers'] : undefined;
  if (!Array.isArray(controllers)) return [];
  return controllers.flatMap((alias: unknown, index): readonly DefinitionProblem[] => {
    const need = Object.entries(CONTROLLER_CAPABILITY).find(([one]) => one === alias)?.[1];
    if (need === undefined || capabilities.includes(need)) return [];
    const path = `ccm.controllers[${index}]`;
    return [
      {
        path,
        code: 'SW2121',
        message: `${path} is '${String(alias)}', which needs the capability ${need}; it is missing`,
        hint: `add ${need}, or leave '${String(alias)}' out`,
      },
    ];
  });
}
