// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

export type * from './meta-v1-types.ts';
