/** What the API server needs of field ownership (spec 13): the rest of this folder is how it is done. */
export { applyConfiguration } from './apply-configuration.ts';
export { ApplyConflict } from './conflict.ts';
export { ConversionProblem, TypedProblem } from './typed-problem.ts';
export { updateManagedFields } from './update-managed-fields.ts';
