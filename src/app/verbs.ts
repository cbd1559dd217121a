import type { Verb } from './verb.ts';
import { apiserverVerb } from './verbs/apiserver.ts';
import { describeVerb } from './verbs/describe.ts';
import { doctorVerb } from './verbs/doctor.ts';
import { explainVerb } from './verbs/explain.ts';
import { initVerb } from './verbs/init.ts';
import { lintVerb } from './verbs/lint.ts';
import { renderVerb } from './verbs/render.ts';
import { runVerb } from './verbs/run.ts';
import { upVerb } from './verbs/up.ts';
import { versionVerb } from './verbs/version.ts';

/** Every verb of the command line, in the order help lists them. A new verb is a line here. */
export const VERBS: readonly Verb[] = [
  upVerb,
  initVerb,
  lintVerb,
  apiserverVerb,
  runVerb,
  renderVerb,
  doctorVerb,
  explainVerb,
  describeVerb,
  versionVerb,
];
