#include "annotated.h"
