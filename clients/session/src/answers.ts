// Answers that are under way, or were taken: a double click is one answer.

export class Answers {
  readonly #all = new Map<string, Promise<boolean>>();

  /** What became of the first answer to a question; `post` is called if there is none, or if it was not taken. */
  first(questionId: string, post: () => Promise<boolean>): Promise<boolean> {
    const before = this.#all.get(questionId);
    if (before !== undefined) return before;
    const answer = post().then((isTaken) => {
      if (!isTaken && this.#all.get(questionId) === answer) this.#all.delete(questionId);
      return isTaken;
    });
    this.#all.set(questionId, answer);
    return answer;
  }

  /** The agent has stated the question anew: if it is open, it may be answered again. */
  stated(questionId: string): void {
    this.#all.delete(questionId);
  }
}
