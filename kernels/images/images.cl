// OpenCL kernels that read and write images. What they call is in library.ll.

// Resamples an image to the size of another, with whatever filter and edges the sampler has.
kernel void resample(read_only image2d_t in, write_only image2d_t out, sampler_t sampler)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    int2 size = (int2)(get_image_width(out), get_image_height(out));
    if (at.x >= size.x || at.y >= size.y)
        return;
    float2 place = ((float2)(at.x, at.y) + 0.5f) / (float2)(size.x, size.y);
    write_imagef(out, at, read_imagef(in, sampler, place));
}

// Differences of neighbours in a row, of integers and without a sampler.
kernel void differences(read_only image2d_t in, write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    int last = get_image_width(in) - 1;
    if (at.x > last || at.y >= get_image_height(in))
        return;
    uint4 here = read_imageui(in, at);
    uint4 next = read_imageui(in, (int2)(at.x < last ? at.x + 1 : last, at.y));
    write_imageui(out, at, (next - here) & 0xff);
}

// Points of a volume, at texel coordinates that come from a buffer.
kernel void probe(read_only image3d_t volume, sampler_t sampler, global const float4 *places, global float4 *values)
{
    size_t i = get_global_id(0);
    values[i] = read_imagef(volume, sampler, places[i]);
}
