import sys
# What the project has lying around must not stand in for the driver's modules.
sys.path[:] = [p for p in sys.path if p]
import ast, builtins, linecache, os, traceback, types
# The driver keeps its own copies of what it uses: the code may replace the originals.
globals().update({k: v for k, v in vars(builtins).items() if not k.startswith('__')})
os = types.SimpleNamespace(**vars(os))
ast = types.SimpleNamespace(**vars(ast))
traceback = types.SimpleNamespace(**vars(traceback))
sys.path.insert(0, '')


def drive():
    control, output, me = 3, 4, os.getpid()
    os.set_inheritable(control, False)
    os.set_inheritable(output, False)
    main = types.ModuleType('__main__')
    main.__dict__['__builtins__'] = builtins
    sys.modules['__main__'] = main
    sys.argv[:] = ['']
    pending = bytearray()

    def field():
        while True:
            end = pending.find(0)
            if end >= 0:
                value = bytes(pending[:end])
                del pending[:end + 1]
                return value
            more = os.read(control, 65536)
            if not more:
                os._exit(0)
            pending.extend(more)

    def streams():
        # The code may have closed or turned away what it prints to.
        null = os.open(os.devnull, os.O_RDONLY)
        for fd, to in ((null, 0), (output, 1), (output, 2)):
            os.dup2(fd, to)
        if null > 2:
            os.close(null)
        for name, fd in (('stdout', 1), ('stderr', 2)):
            try:
                stream = getattr(sys, name)
                if stream.closed:
                    raise ValueError
                if hasattr(stream, 'reconfigure'):
                    stream.reconfigure(encoding='utf-8', errors='backslashreplace', line_buffering=True)
            except BaseException:
                setattr(sys, name, open(fd, 'w', buffering=1, encoding='utf-8', errors='backslashreplace', closefd=False))
        try:
            usable = not sys.stdin.closed
        except BaseException:
            usable = False
        if not usable:
            sys.stdin = open(0, closefd=False)

    def run(code, name):
        source = code.decode()
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        tree, last = compile(source, name, 'exec', ast.PyCF_ONLY_AST, dont_inherit=True), None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, name, 'exec', dont_inherit=True), main.__dict__)
        if last is not None:
            value = eval(compile(last, name, 'eval', dont_inherit=True), main.__dict__)
            if value is not None:
                builtins._ = value
                print(repr(value))

    def flush():
        for name in ('stdout', 'stderr'):
            try:
                getattr(sys, name).flush()
            except BaseException:
                pass

    number = 0
    while True:
        token, code = field(), field()
        number += 1
        status, leaves = b'ok', None
        streams()
        try:
            run(code, '<repl %d>' % number)
        except SystemExit as end:
            status, leaves = b'exit', end.code
        except BaseException as error:
            status = b'error'
            try:
                at = error.__traceback__
                while at is not None and at.tb_frame.f_code.co_filename == '<string>':
                    at = at.tb_next
                traceback.print_exception(type(error), error, at)
            except BaseException:
                try:
                    print('an error that cannot be shown: ' + type(error).__name__, file=sys.stderr)
                except BaseException:
                    pass
        if os.getpid() != me:  # a fork of the code's
            flush()
            os._exit(0)
        flush()
        answer = b'\0' + token + b' ' + status + b'\0'
        while answer:
            answer = answer[os.write(output, answer):]
        if status == b'exit':
            if leaves is not None and not isinstance(leaves, int):
                leaves = 1
            os._exit((leaves or 0) & 255)


drive()
