import { hubPhase } from './apiserver/hub-phase.ts';
import { cloudPhase } from './cloud/cloud-phase.ts';
import type { Phase } from './journey/phase.ts';
import { labPhase } from './lab/lab-phase.ts';
import type { Scenario } from './lab/scenario-file.ts';
import { clusterPhase } from './metal/cluster-phase.ts';
import { definitionPhase } from './provider/definition-phase.ts';

/** A part of Slipway as the composition root sees it. */
export interface Component {
  readonly name: string;
  /** What it adds to the journey. */
  readonly phases: readonly Phase[];
}

/** What a journey can be told. */
export interface JourneyWish {
  readonly scenario?: Scenario | undefined;
  /** Path of a definition; the example unless given. */
  readonly provider?: string | undefined;
}

/** Every component, in the order of their phases. A new component is a line here. */
export const componentsFor = ({ scenario, provider }: JourneyWish): readonly Component[] => [
  { name: 'apiserver', phases: [hubPhase] },
  { name: 'provider', phases: [definitionPhase(provider)] },
  scenario === undefined
    ? { name: 'agent', phases: [clusterPhase] }
    : { name: 'lab', phases: [labPhase(scenario)] },
  { name: 'cloud', phases: [cloudPhase] },
];
