import { compareStories } from '../support/lab-workload-comparison.ts';
import { JOB_STORIES } from '../support/lab-workload-stories.ts';

compareStories('jobs', 'lab/W26 to W29', JOB_STORIES);
