import type { Job } from '../../../api/generated/batch-v1-types.ts';

const FIELDS = ['podFailurePolicy', 'successPolicy', 'backoffLimitPerIndex', 'maxFailedIndexes'] as const;

/** What a job asks for and the lab leaves undone (W26). */
export const unsimulatedFields = ({ spec }: Job): readonly string[] =>
  FIELDS.filter((field) => spec[field] !== undefined).map((field) => `spec.${field}`);
