import { hubPhase } from './apiserver/hub-phase.ts';
import type { Phase } from './journey/phase.ts';
import { labPhase } from './lab/lab-phase.ts';
import type { Scenario } from './lab/scenario-file.ts';

/** A part of Slipway as the composition root sees it. */
export interface Component {
  readonly name: string;
  /** What it adds to the journey. */
  readonly phases: readonly Phase[];
}

/** Every component, in the order of their phases. A new component is a line here. */
export const componentsFor = (scenario: Scenario | undefined): readonly Component[] => [
  { name: 'apiserver', phases: [hubPhase] },
  { name: 'lab', phases: [labPhase(scenario)] },
];
