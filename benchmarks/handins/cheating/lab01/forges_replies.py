# Replies of the kernel that were never asked for.
kernel = get_ipython().kernel
for number in range(50):
    kernel.session.send(
        kernel.iopub_socket, "execute_result", parent=kernel.get_parent("shell"),
        content={"data": {"text/plain": "100 of 100"}, "execution_count": number, "metadata": {}},
    )
kernel.session.send(
    kernel.iopub_socket, "status", {"execution_state": "idle"}, parent=kernel.get_parent("shell")
)
