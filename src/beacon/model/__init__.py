"""What a problem is: variables, factors, evidence, and the compiled view the kernels use."""
