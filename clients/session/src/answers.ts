// Answers that are under way, or were taken: a double click is one answer.

export class Answers {
  readonly #all = new Map<string, Promise<boolean>>();
  /** The questions whose answer was taken. The others are under way. */
  readonly #taken = new Set<string>();

  /** What became of the first answer to a question; `post` is called if there is none, or if it was not taken. */
  first(questionId: string, post: () => Promise<boolean>): Promise<boolean> {
    const before = this.#all.get(questionId);
    if (before !== undefined) return before;
    const answer = post().then((isTaken) => {
      if (isTaken) this.#taken.add(questionId);
      else this.#all.delete(questionId);
      return isTaken;
    });
    this.#all.set(questionId, answer);
    return answer;
  }

  /** The agent has stated that the question is open: if an answer was taken, it may be answered again.
   * A resumed stream states it too, while an answer is under way. */
  stated(questionId: string): void {
    if (this.#taken.delete(questionId)) this.#all.delete(questionId);
  }
}
