import type { Verb } from './verb.ts';
import { apiserverVerb } from './verbs/apiserver.ts';
import { doctorVerb } from './verbs/doctor.ts';
import { explainVerb } from './verbs/explain.ts';
import { upVerb } from './verbs/up.ts';
import { versionVerb } from './verbs/version.ts';

/** Every verb of the command line, in the order help lists them. A new verb is a line here. */
export const VERBS: readonly Verb[] = [upVerb, apiserverVerb, doctorVerb, explainVerb, versionVerb];
