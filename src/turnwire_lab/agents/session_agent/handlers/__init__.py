"""What happens to the state of a session: the frames of clients, the reports of the runner.

asked         the frames of a client
init          what a socket gets first
intake        a prompt is answered, queued or begun
orders        the smaller frames of a client
slash         commands hidden in prompts
attachments   which files a revision takes
aborting      stopping, and what it takes along
dispatching   from the queue to the runner and back
lifecycle     sleep, waking up, losing the runner, death
questions     questions and approvals, and their end
reports       what the runner reports, and which frames that makes
"""
