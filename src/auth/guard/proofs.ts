import { Injectable } from '@nestjs/common';
import type { ZoneRequest } from '../../access/access.js';
import type { FrontDoor } from '../../access/doors.js';

/** The id of the API token that the credential of a request stands for; null: it is none. */
export type Proof = (request: ZoneRequest) => Promise<number | null>;

/** Credentials of other kinds than tokens, each checked by its door; what they stand for is a token, judged as ever. */
@Injectable()
export class Proofs {
  private readonly known = new Map<FrontDoor, Proof>();

  register(door: FrontDoor, proof: Proof): void {
    this.known.set(door, proof);
  }

  of(door: FrontDoor): Proof {
    const proof = this.known.get(door);
    if (!proof) throw new Error(`the door ${door} checks no credentials`);
    return proof;
  }
}
