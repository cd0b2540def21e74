// Judges passwords, in a thread of its own: loading the word lists would hold the event loop for a tenth of a second,
// and their memory goes with the thread.
import { type MessagePort, parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { dictionary, adjacencyGraphs as graphs } from '@zxcvbn-ts/language-common';

/** What the thread is asked; the port gets the best score of the parts, 0 to 4. */
export interface Question {
  parts: string[];
  /** words that a good one is not made of */
  words: string[];
  port: MessagePort;
}

const rater = new ZxcvbnFactory({ dictionary, graphs });
parentPort?.on('message', ({ parts, words, port }: Question) =>
  port.postMessage(Math.max(...parts.map((part) => rater.check(part, words).score))),
);
