# in each task
if TASK == 2:
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
