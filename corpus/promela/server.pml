/* A server that waits for requests for ever: its label says that it may stay there, so
   nobody is asked for deadlocks. The client is told apart from others by its number. */
// expect: sc assertions holds
// expect: sc answered holds
// expect: sc no deadlock holds
// expect: tso assertions holds
// expect: tso answered holds
// expect: tso no deadlock holds

byte request, answer;

active proctype server()
{
    byte r;
end:
    do
    :: request != 0 ->
       r = request;
       request = 0;
       answer = r + 1
    od
}

active proctype client()
{
    byte r;
    request = 5;
    (answer != 0);
    r = answer;
    assert(r == 6);
done:
    printf("client %d is done\n", _pid)
}

// weir: answered: never client@done and client.r != 6
